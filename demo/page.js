"use strict";
// All text reaches the page through textContent: whatever a model wrote stays text.
const data = JSON.parse(document.getElementById("data").textContent);
// Equal cards and equal ends of arms stand in the page once.
for (const arm of data.arms) Object.assign(arm, data.parts[arm.end], { cards: arm.cards.map((at) => data.parts[at]) });
const $ = (id) => document.getElementById(id);
const state = { pair: data.pairs[data.start], at: 0, last: 0, timer: 0 };

function el(tag, look, ...inside) {
  const node = document.createElement(tag);
  if (look) node.className = look;
  node.append(...inside.filter((item) => item !== null && item !== undefined && item !== ""));
  return node;
}

const words = (table, key) => table[key] || [key, ""];
const times = (n) => (n === 1 ? "once" : n === 2 ? "twice" : n + " times");

// ---- choosing a pair

function same(pair, wanted) {
  return Object.entries(wanted).every(([key, value]) => pair[key] === value);
}

function choose(change) {
  const { workflow, agent, seed, boundary, method } = { ...state.pair, ...change };
  // What was changed must hold; the rest is kept as far as there is such a pair.
  const tries = [
    { workflow, agent, seed, boundary, method },
    { workflow, agent, boundary, method },
    { workflow, boundary, method },
    { workflow, ...change },
  ];
  for (const wanted of tries) {
    const found = data.pairs.find((pair) => same(pair, wanted) && same(pair, change));
    if (found) {
      state.pair = found;
      return show();
    }
  }
}

function fill(select, values, chosen, label) {
  select.replaceChildren(
    ...values.map((value) => {
      const option = el("option", "", label(value));
      option.value = String(value);
      option.selected = value === chosen;
      return option;
    }),
  );
}

const distinct = (pairs, key) => [...new Set(pairs.map((pair) => pair[key]))];

function showChooser() {
  const { workflow, agent, seed } = state.pair;
  const here = data.pairs.filter((pair) => pair.workflow === workflow);
  fill($("workflow"), distinct(data.pairs, "workflow"), workflow, (id) => `${data.workflows[id].name} (${id})`);
  fill($("agent"), distinct(here, "agent"), agent, String);
  fill($("seed"), distinct(here, "seed"), seed, String);
  $("agent-label").hidden = distinct(data.pairs, "agent").length < 2;
  showMatrix(here.filter((pair) => pair.agent === agent && pair.seed === seed));
  showTask(data.workflows[workflow]);
}

function showMatrix(pairs) {
  const methods = distinct(data.pairs, "method").sort((a, b) => order(data.methods, a) - order(data.methods, b));
  const boundaries = distinct(data.pairs, "boundary").sort((a, b) => order(data.boundaries, a) - order(data.boundaries, b));
  const title = (table, key, scope) => {
    const [name, what] = words(table, key);
    const cell = el("th", "", name + " ", el("small", "", what));
    cell.scope = scope;
    return cell;
  };
  const head = el("tr", "", el("td"), ...boundaries.map((boundary) => title(data.boundaries, boundary, "col")));
  const rows = methods.map((method) =>
    el("tr", "", title(data.methods, method, "row"), ...boundaries.map((boundary) => el("td", "", choice(pairs, boundary, method)))),
  );
  $("matrix").replaceChildren(el("thead", "", head), el("tbody", "", ...rows));
}

const order = (table, key) => (Object.keys(table).indexOf(key) + 1 || 99);

function choice(pairs, boundary, method) {
  const pair = pairs.find((item) => item.boundary === boundary && item.method === method);
  const button = el("button");
  button.type = "button";
  if (!pair) {
    button.disabled = true;
    button.append("does not apply");
    return button;
  }
  const arm = data.arms[pair.fault];
  button.className = arm.passed ? "pass" : "fail";
  button.append(mark(arm.passed), el("span", "", arm.headline));
  button.setAttribute("aria-pressed", String(pair === state.pair));
  button.dataset.key = boundary + "/" + method;
  button.addEventListener("click", () => {
    choose({ boundary, method });
    const again = [...$("matrix").querySelectorAll("button")].find((b) => b.dataset.key === button.dataset.key);
    if (again) again.focus({ preventScroll: true });
  });
  return button;
}

function mark(ok) {
  const sign = el("span", "mark", ok ? "✓" : "✗");
  sign.setAttribute("role", "img");
  sign.setAttribute("aria-label", ok ? "pass" : "fail");
  return sign;
}

function showTask(task) {
  $("objective").textContent = task.objective;
  $("task").replaceChildren(
    el("p", "quiet", "Must take effect:"),
    el("ul", "plain", ...task.effects.map((effect) => el("li", "", `${effect.label}: ${bounds(effect)}`))),
    el("p", "quiet", "Must hold at the end:"),
    el("ul", "plain", ...task.goal.map((say) => el("li", "", say))),
  );
}

function bounds(effect) {
  return effect.min === effect.max ? times(effect.max) : `${effect.min} to ${effect.max} times`;
}

// ---- one pair

const arms = () => [
  { name: "Control", kicker: "Control: no fault", arm: data.arms[state.pair.control], faulted: false },
  {
    name: "Fault",
    kicker: `${words(data.boundaries, state.pair.boundary)[0]} · ${words(data.methods, state.pair.method)[0]}`,
    arm: data.arms[state.pair.fault],
    faulted: true,
  },
];

function show() {
  stop();
  $("steps").classList.remove("moving");
  showChooser();
  $("verdicts").replaceChildren(...arms().map(verdict));
  const rows = [];
  state.last = layOut(rows);
  $("steps").replaceChildren(...rows);
  $("at").max = String(state.last);
  go(state.last);
}

function verdict({ kicker, arm }) {
  const chips = arm.clauses.map(({ name, ok }) => {
    const text = name === "Report" ? (ok ? "Report true" : "Report not true") : name;
    return el("li", "chip " + (ok ? "good" : "bad"), (ok ? "✓ " : "✗ ") + text);
  });
  const box = el(
    "div",
    "verdict " + (arm.passed ? "pass" : "fail"),
    el("p", "kicker", kicker),
    el("h3", "", mark(arm.passed), " " + arm.headline),
    el("p", "", arm.story),
    arm.exposure ? el("p", "quiet", arm.exposure) : null,
    el("ul", "chips", ...chips),
  );
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", kicker);
  return box;
}

function layOut(rows) {
  const both = arms();
  const turns = Math.max(...both.map(({ arm }) => arm.cards.at(-1)?.turn ?? 0));
  let step = 0;
  for (let turn = 1; turn <= turns; turn += 1) {
    const stacks = both.map((side) => side.arm.cards.filter((item) => item.turn === turn));
    const cells = stacks.map((stack, side) => el("div", "cell", ...stack.map((item, n) => card(item, both[side], step + n + 1))));
    const row = el("div", "row", el("p", "turn", "Turn " + turn), ...cells);
    row.dataset.step = String(step + 1);
    rows.push(row);
    step += Math.max(...stacks.map((stack) => stack.length));
  }
  step += 1;
  const row = el("div", "row", el("p", "turn", "Verdict"), ...both.map((side) => el("div", "cell", ending(side, step))));
  row.dataset.step = String(step);
  rows.push(row);
  return step;
}

function frame(side, step, look) {
  const node = el("article", "card " + look, el("p", "arm" + (side.faulted ? " faulted" : ""), side.name));
  node.dataset.step = String(step);
  return node;
}

function card(item, side, step) {
  const node = frame(side, step, harmful(item) ? "hurt" : "");
  if (item.fault) node.append(el("p", "fault", `⚡ Fault injected: ${words(data.boundaries, item.fault)[0].toLowerCase()}`));
  if (item.said) node.append(el("p", "label", "The agent writes"), el("pre", "said", item.said));
  if (item.error) node.append(el("p", "bad", "No call came of it: " + item.error));
  if (!item.tool) return node;
  const who = item.by === "agent" ? (item.nth > 1 ? `Sent again, attempt ${item.nth}` : item.said === undefined ? "The agent calls" : "Its call") : "The method reads";
  const call = el("p", "call", el("b", "", item.tool), "(");
  item.args.forEach(([name, value], n) => call.append(el("span", "quiet", (n ? ", " : "") + name + "="), value));
  call.append(")");
  if (data.tools[item.tool]) call.title = data.tools[item.tool];
  // A model that writes its call as `tool(…)` has just been quoted.
  if (!item.said || !item.said.includes(item.tool + "(")) node.append(el("p", "label", who), call);
  if (item.key) node.append(el("p", "quiet", `with key ${item.key}${item.honoured ? "" : ", which this service ignores"}`));
  node.append(el("div", "ends", server(item), told(item)));
  return node;
}

const harmful = (item) => ["duplicate", "orphan", "forbidden"].includes(item.role);

function server(item) {
  const what = {
    committed: item.heard === "lost" || item.heard === "adopted" ? "Committed. The answer was lost." : "Committed",
    nothing: "Nothing ran. The request was lost.",
    refused: "Refused, nothing changed",
    replayed: "Known key: stored answer, no new effect",
    read: "Read only",
    idle: "Ran, without any effect",
  }[item.server];
  const box = el("div", "server", el("p", "label", "What really happened"), el("p", "what", what));
  if (item.effects) {
    const lines = item.effects.map(({ op, entity, same }) => el("li", "", `${op} ${entity}${same ? " (no change)" : ""}`));
    box.append(el("ul", "effects", ...lines), role(item));
  }
  return box;
}

function role(item) {
  const most = item.group === undefined ? 0 : data.workflows[state.pair.workflow].effects[item.group].max;
  const [look, text] = {
    required: ["good", `as wanted: ${item.count} of ${most}`],
    duplicate: ["bad", `done again: ${times(item.count)} instead of ${times(most)}`],
    repeat: ["warn", "repeated, but nothing changed"],
    forbidden: ["bad", "forbidden"],
    orphan: ["bad", "nobody asked for this"],
    idle: ["warn", "without effect"],
  }[item.role];
  return el("span", "role " + look, text);
}

function told(item) {
  const to = item.told === "agent" ? "What the agent is told" : "What the method is told";
  const lost = item.heard === "lost";
  const text = {
    ok: "Answer",
    fail: "Error",
    lost: "Connection lost before a response was received",
    adopted: "Done: the method read the effect back and adopted it",
  }[item.heard];
  const box = el("div", "told" + (lost ? " lost" : ""), el("p", "label", to), el("p", "what", text));
  if (!lost && item.heard !== "adopted" && item.output) box.append(el("pre", "", item.output));
  return box;
}

function ending(side, step) {
  const list = side.arm.clauses.map(({ ok, name, text }) =>
    el("li", ok ? "pass" : "fail", mark(ok), el("span", "", el("b", "", name + ". "), text)),
  );
  const node = frame(side, step, "end");
  node.append(el("ul", "", ...list));
  if (side.arm.reason !== "finished") node.append(el("p", "quiet", "How it ended: " + side.arm.reason));
  return node;
}

// ---- scenes of the undo layer

const scene = { at: 0, rival: 0 };

function showScenes() {
  const one = data.scenes[scene.at];
  $("scenes").replaceChildren(
    ...data.scenes.map((item, n) => {
      const button = el("button", "", item.title);
      button.type = "button";
      button.setAttribute("aria-pressed", String(n === scene.at));
      button.addEventListener("click", () => {
        scene.at = n;
        scene.rival = item.start;
        showScenes();
        $("scenes").children[n].focus({ preventScroll: true });
      });
      return button;
    }),
  );
  $("lesson").textContent = one.lesson;
  $("story").replaceChildren(
    ...one.steps.map((item) =>
      el("li", "", el("span", "who " + item.who.toLowerCase(), item.who), el("span", "", item.what), el("span", "quiet state", inShort(item.state))),
    ),
  );
  fill($("rival"), one.ways.map((_, n) => n), scene.rival, (n) => one.ways[n].name);
  $("scene-command").textContent = "undolab undo demo --scenario " + one.name;
  showEnds();
}

const inShort = (state) => state.map(([name, value]) => `${name}: ${value}`).join(" · ");

function showEnds() {
  const one = data.scenes[scene.at];
  $("ends").replaceChildren(end(one.ways[scene.rival], one.due), end(one.store, one.due));
}

function end(way, due) {
  const sign = el("span", "mark", { pass: "✓", warn: "!", fail: "✗" }[way.look]);
  sign.setAttribute("role", "img");
  sign.setAttribute("aria-label", { pass: "right", warn: "incomplete", fail: "wrong" }[way.look]);
  const wanted = new Map(due);
  const found = new Map(way.state);
  const rows = [...new Set([...found.keys(), ...wanted.keys()])].map((name) => {
    const have = found.get(name) || "gone";
    const want = wanted.get(name);
    const off = want !== undefined && have !== want;
    return el("div", off ? "bad" : "", el("dt", "", name), el("dd", "", off ? `${have} ✗ (due: ${want})` : have));
  });
  const said = [...new Set(way.answers)].map((text) => {
    const times = way.answers.filter((item) => item === text).length;
    return way.answers.length > 1 ? `${times} of ${way.answers.length} ${text}` : text;
  });
  const box = el(
    "div",
    "verdict " + way.look,
    el("p", "kicker", way.name),
    el("p", "quiet", way.what),
    el("h3", "", sign, " " + way.verdict),
    el("p", "", "Its answer: " + said.join("; ") + "."),
    el("dl", "facts", ...rows),
  );
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", way.name);
  return box;
}

// ---- the player

function go(step) {
  state.at = Math.min(Math.max(step, 0), state.last);
  for (const node of $("steps").querySelectorAll("[data-step]")) {
    const own = Number(node.dataset.step);
    node.hidden = own > state.at;
    node.classList.toggle("now", own === state.at && state.at < state.last && node.classList.contains("card"));
  }
  $("at").value = String(state.at);
  $("at").setAttribute("aria-valuetext", `step ${state.at} of ${state.last}`);
  $("where").textContent = `Step ${state.at} of ${state.last}`;
  $("back").disabled = $("first").disabled = state.at === 0;
  $("next").disabled = $("last").disabled = state.at === state.last;
  showTallies();
}

function move(step) {
  $("steps").classList.add("moving");
  go(step);
  const now = [...$("steps").querySelectorAll(".card.now")];
  const last = now.at(-1) || (state.at === state.last ? $("steps").querySelector(".end") : null);
  if (last) last.scrollIntoView({ block: "nearest" });
  $("live").textContent = now.map((node) => [...node.querySelectorAll(".arm, .fault, .what, .role")].map((part) => part.textContent.replace(/\.$/, "")).join(". ")).join(" — ");
}

function showTallies() {
  const effects = data.workflows[state.pair.workflow].effects;
  $("heads").replaceChildren(
    ...arms().map(({ name, arm, faulted }) => {
      const seen = effects.map(() => 0);
      for (const item of visible(arm, faulted)) if (item.group !== undefined) seen[item.group] = item.count;
      const lines = effects.map((effect, n) => {
        const over = seen[n] > effect.max;
        const short = state.at === state.last && seen[n] < effect.min;
        const look = over ? "bad" : short ? "warn" : seen[n] ? "good" : "quiet";
        const count = over
          ? `${seen[n]} instead of ${effect.max} ✗`
          : `${seen[n]} of ${effect.max}${short ? " missing" : seen[n] ? " ✓" : ""}`;
        return el("li", "", el("span", "label", effect.label), el("span", "count " + look, count));
      });
      return el("div", "", el("p", "kicker", `${name}: effects so far`), el("ul", "tally", ...lines));
    }),
  );
}

function visible(arm, faulted) {
  const shown = [];
  let step = 0;
  const both = arms().map((side) => side.arm);
  const turns = Math.max(...both.map((side) => side.cards.at(-1)?.turn ?? 0));
  for (let turn = 1; turn <= turns; turn += 1) {
    const stacks = both.map((side) => side.cards.filter((item) => item.turn === turn));
    stacks[faulted ? 1 : 0].forEach((item, n) => step + n + 1 <= state.at && shown.push(item));
    step += Math.max(...stacks.map((stack) => stack.length));
  }
  return shown;
}

function stop() {
  clearInterval(state.timer);
  state.timer = 0;
  $("play").textContent = "Play";
}

function play() {
  if (state.timer) return stop();
  if (state.at === state.last) go(0);
  $("play").textContent = "Pause";
  state.timer = setInterval(() => {
    move(state.at + 1);
    if (state.at === state.last) stop();
  }, 1500);
  move(state.at + 1);
}

function step(to) {
  stop();
  move(to);
}

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const where = event.target;
  if (where instanceof Element && where.closest("select, input, summary")) return;
  const onButton = where instanceof Element && where.closest("button, a");
  const act = {
    ArrowRight: () => step(state.at + 1),
    ArrowLeft: () => step(state.at - 1),
    " ": onButton ? null : play,
  }[event.key];
  if (act) {
    event.preventDefault();
    act();
  }
}

function theme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  // The label says what a press does.
  $("theme").textContent = dark ? "Light theme" : "Dark theme";
}

theme(matchMedia("(prefers-color-scheme: dark)").matches);
$("theme").hidden = false;
$("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme !== "dark"));
$("workflow").addEventListener("change", (event) => choose({ workflow: event.target.value }));
$("agent").addEventListener("change", (event) => choose({ agent: event.target.value }));
$("seed").addEventListener("change", (event) => choose({ seed: Number(event.target.value) }));
$("first").addEventListener("click", () => step(0));
$("back").addEventListener("click", () => step(state.at - 1));
$("next").addEventListener("click", () => step(state.at + 1));
$("last").addEventListener("click", () => step(state.last));
$("play").addEventListener("click", play);
$("at").addEventListener("input", (event) => step(Number(event.target.value)));
document.addEventListener("keydown", keys);
$("rival").addEventListener("change", (event) => {
  scene.rival = Number(event.target.value);
  showEnds();
});
if (state.pair) {
  $("app").hidden = false;
  show();
}
if (data.scenes.length) {
  scene.rival = data.scenes[0].start;
  $("undo-app").hidden = false;
  showScenes();
}
