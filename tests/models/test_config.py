"""The models file, and what is said where a model is missing."""

import struct
import sys
from pathlib import Path
from typing import Any

import pytest

from undolab.model.canon import bytes_digest
from undolab.model.errors import UndolabError
from undolab.models.config import ApiConfig, find_model, find_model_file, load_all, load_models
from undolab.models.gguf import tensor_types
from undolab.models.llama import LlamaBackend

MODELS = Path(__file__).parents[2] / "config" / "models.yaml"


def test_the_released_models_load() -> None:
    """The repository's own file names the default model by the digest that the design gives."""
    model = load_models(MODELS)["gemma3-270m"]
    assert model.digest == "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
    assert (model.sampling.temperature, model.sampling.top_p) == (0.2, 1.0)


def test_the_published_models_are_there_and_marked_as_not_run_here() -> None:
    """Each model of the published studies has an entry under the name that the study gave it, and no record is claimed."""
    models = [model for model in load_all(MODELS).values() if isinstance(model, ApiConfig)]
    named = {model.model: model for model in models if model.name != "smollm2-135m"}
    assert named.keys() == {
        "llama3.1:8b-instruct-q4_K_M",
        "llama3.2:3b-instruct-q4_K_M",
        "meta-llama/Llama-3.1-8B-Instruct",
        "meta-llama/Llama-3.2-3B-Instruct",
        "google/gemini-3.8-flash",
        "zai-org/glm-5.2-maas",
        "gpt-4.1-2025-04-14",
        "gpt-4.1-mini-2025-04-14",
    }
    assert all(model.not_run for model in named.values())
    assert all("quantisation" in model.served_by for model in named.values() if not model.key)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("threads: 1", "threads: one", "/gemma3-270m is not a model entry"),
        ("  engine:", "  motor: 1\n  engine:", "unknown field `motor`"),
        ("gemma3-270m:", "gemma3-270m: [", "mend the YAML there"),
        ("  prompt:\n", "  prompt:\n    examples: rich\n", "/prompt/examples belongs to a study"),
    ],
)
def test_a_wrong_entry_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    """A wrong type, unknown field, unknown variant or broken YAML gets one sentence that names the file."""
    text = MODELS.read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "models.yaml"
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(UndolabError, match=message) as caught:
        load_models(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_models_file_is_named(tmp_path: Path) -> None:
    """A models file that is not there is named."""
    with pytest.raises(UndolabError, match=r"none\.yaml"):
        load_models(tmp_path / "none.yaml")


def test_a_missing_model_file_says_make_live(tmp_path: Path) -> None:
    """Without the model file, the sentence says what installs it."""
    model = load_models(MODELS)["gemma3-270m"]
    with pytest.raises(UndolabError, match="make live"):
        find_model_file(model, tmp_path)


def test_a_changed_model_file_is_refused(tmp_path: Path) -> None:
    """A model file with other bytes is refused before it is loaded."""
    model = load_models(MODELS)["gemma3-270m"]
    (tmp_path / ".models").mkdir()
    (tmp_path / model.file).write_bytes(b"GGUF")
    with pytest.raises(UndolabError, match="SHA-256"):
        LlamaBackend(model, tmp_path).header()


def test_missing_llama_says_make_live(tmp_path: Path, monkeypatch: Any) -> None:
    """Without llama-cpp-python, the sentence says what installs it."""
    import msgspec

    model = msgspec.structs.replace(load_models(MODELS)["gemma3-270m"], file="m", digest=bytes_digest(b"m"))
    (tmp_path / "m").write_bytes(b"m")
    monkeypatch.setitem(sys.modules, "llama_cpp", None)
    with pytest.raises(UndolabError, match="make live"):
        LlamaBackend(model, tmp_path).header()


def gguf(tensors: list[tuple[str, int]]) -> bytes:
    """Return a GGUF header with one value of each kind and the given tensors."""

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    entries = [
        text("a.string") + struct.pack("<I", 8) + text("x"),
        text("a.number") + struct.pack("<If", 6, 1.5),
        text("a.flag") + struct.pack("<I?", 7, True),
        text("a.numbers") + struct.pack("<IIQ3i", 9, 5, 3, 1, 2, 3),
        text("a.strings") + struct.pack("<IIQ", 9, 8, 2) + text("one") + text("two"),
        text("a.nested") + struct.pack("<IIQIQH", 9, 9, 1, 2, 1, 7),
    ]
    infos = [text(name) + struct.pack("<IQQIQ", 2, 8, 4, kind, 0) for name, kind in tensors]
    return b"GGUF" + struct.pack("<IQQ", 3, len(infos), len(entries)) + b"".join(entries + infos)


def test_tensor_types_are_counted(tmp_path: Path) -> None:
    """Each tensor counts under its ggml type, also a type that this reader has no name for."""
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf([("a", 12), ("b", 8), ("c", 8), ("d", 99)]))
    assert tensor_types(path) == {"Q4_K": 1, "Q8_0": 2, "type 99": 1}


@pytest.mark.parametrize("cut", [0, 3, 20, 60, -4])
def test_a_cut_gguf_is_refused(tmp_path: Path, cut: int) -> None:
    """A file that ends within its header, or is none, is refused by name."""
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf([("a", 12)])[:cut])
    with pytest.raises(UndolabError, match=r"m\.gguf"):
        tensor_types(path)


THREE = "mine:\n  url: http://127.0.0.1:8000/v1\n  model: served-name\n"


def test_three_lines_are_a_model(tmp_path: Path) -> None:
    """A name, an address and the model's name there are enough; the address is not in what names the model."""
    path = tmp_path / "models.yaml"
    path.write_text(THREE, encoding="utf-8")
    model = load_all(path)["mine"]
    assert isinstance(model, ApiConfig)
    assert (model.identity, model.protocol, model.sampling.temperature) == ("api:served-name", "chat", 0.2)
    assert load_models(path) == {}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("key: sk-abc", "/mine/key must be the name of an environment variable"),
        ("key: deadbeef", "/mine/key must be the name"),
        ("protocol: completions", "/mine/protocol completions needs .* grammar"),
        ("sampling: {top_k: 5}", "/mine/sampling/top_k is set"),
        ("attempts: 0", "/mine/attempts is out of range"),
        ("accepts: [magic]", r"\$\.accepts"),
        ("colour: red", "unknown field `colour`"),
    ],
)
def test_a_wrong_service_entry_is_named(tmp_path: Path, line: str, message: str) -> None:
    """A wrong entry of a service is named by file and pointer, and a key written into it is not repeated."""
    path = tmp_path / "models.yaml"
    path.write_text(f"{THREE}  {line}\n", encoding="utf-8")
    with pytest.raises(UndolabError, match=message) as caught:
        load_all(path)
    assert "abc" not in str(caught.value)
    assert "deadbeef" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["", "ftp://x/v1", "http://", "http://u:hunter2@x/v1", "http://x/v1?key=hunter2", "http://[bad/v1"]
)
def test_an_address_with_a_secret_or_without_a_host_is_refused(tmp_path: Path, url: str) -> None:
    """Neither a half address nor one that carries a secret is taken, and the secret is not repeated."""
    path = tmp_path / "models.yaml"
    path.write_text(THREE.replace("http://127.0.0.1:8000/v1", f"'{url}'"), encoding="utf-8")
    with pytest.raises(UndolabError, match="/mine/url must") as caught:
        load_all(path)
    assert "hunter2" not in str(caught.value)


def test_an_unknown_model_is_named_with_those_there_are() -> None:
    """A wrong name lists the right ones."""
    with pytest.raises(UndolabError, match=r"no model 'nope' .* gemma3-270m"):
        find_model(load_all(MODELS), "nope")


SERVICE = "m:\n  url: http://127.0.0.1:9/v1\n  model: m\n"
FILE = "m:\n  file: x\n  digest: y\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SERVICE + "  prompt: 5\n", "/m is not a model entry"),
        (SERVICE + "  sampling: {temprature: 0.9}\n", "unknown field `temprature`"),
        (SERVICE + "  sampling: {temperature: -1}\n", "/m/sampling/temperature is out of range"),
        (SERVICE + "  sampling: {temperature: 1e999}\n", "/m/sampling/temperature is out of range"),
        (SERVICE + "  sampling: {max_tokens: 0}\n", "/m/sampling/max_tokens is out of range"),
        (SERVICE + "  price: {prompt: -1, completion: 1}\n", "/m/price/prompt is out of range"),
        (SERVICE + "  timeout: 1e999\n", "/m/timeout is out of range"),
        (SERVICE + "  attempts: 0\n", "/m/attempts is out of range"),
        (FILE + "  engine: {context: 0}\n", "/m/engine/context is out of range"),
        (FILE + "  prompt: {output_chars: 0}\n", "/m/prompt/output_chars is out of range"),
        (SERVICE + SERVICE.replace("127.0.0.1", "10.0.0.1"), "the key 'm' stands twice"),
        (SERVICE.replace("m:\n", "meta-llama/Llama-3:\n", 1), "is no name for a model"),
        (SERVICE.replace("m:\n", "../m:\n", 1), "is no name for a model"),
        (SERVICE.replace("m:\n", '"scripted:gold":\n', 1), "is no name for a model"),
        (SERVICE.replace(":9/", ":99999/"), "/m/url must be an http or https address"),
        (SERVICE.replace("127.0.0.1:9", "a b"), "/m/url must be an http or https address"),
        (SERVICE.replace("127.0.0.1:9", "ä..b"), "/m/url must be an http or https address"),
        (SERVICE.replace("model: m", "model: ''"), "/m/model must be"),
        ("\x00", "is not plain UTF-8 text"),
    ],
)
def test_an_entry_that_cannot_be_run_is_refused_when_it_is_read(
    tmp_path: Path, text: str, words: str
) -> None:
    """Typing errors, impossible numbers, names that no arm can bear and addresses that are none are named at config time."""
    path = tmp_path / "models.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UndolabError) as caught:
        load_all(path)
    assert words in str(caught.value)


def test_a_file_of_ones_own_is_not_to_be_deleted(tmp_path: Path) -> None:
    """Where the digest of somebody's GGUF does not fit, the entry may be wrong as well as the file."""
    path = tmp_path / "models.yaml"
    path.write_text(FILE, encoding="utf-8")
    (tmp_path / "x").write_bytes(b"GGUF")
    with pytest.raises(UndolabError, match="mend the entry, or fetch the file again"):
        find_model_file(load_models(path)["m"], tmp_path)


@pytest.mark.parametrize(
    "rest",
    [
        struct.pack("<QIIQ", 0, 9, 12, 2**62),
        struct.pack("<Q", 2**63),
        struct.pack("<Q", 2**45),
        struct.pack("<QI", 0, 9) + struct.pack("<IQ", 9, 1) * 5000,
    ],
)
def test_a_gguf_file_that_claims_too_much_is_no_crash(tmp_path: Path, rest: bytes) -> None:
    """Lengths beyond the file and nesting beyond reason are refused without reserving memory for them."""
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + rest)
    with pytest.raises(UndolabError, match="not a whole GGUF file"):
        tensor_types(path)
