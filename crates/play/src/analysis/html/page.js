"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const SVG = "http://www.w3.org/2000/svg";
  const JUDGEMENTS = { "?!": "inaccuracy", "?": "mistake", "??": "blunder" };

  /** Creates an element with attributes and children; strings are never markup. */
  function make(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "onclick") element.addEventListener("click", value);
      else if (value !== null && value !== undefined) element.setAttribute(key, value);
    }
    element.append(...children.filter((child) => child !== null));
    return element;
  }
  function draw(name, attributes, text) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  }
  const judgement = (symbol) =>
    symbol ? make("span", { class: `mark ${JUDGEMENTS[symbol]}` }, symbol) : null;

  // The game shown, the number of its plies on the board, and the variation being followed, if any.
  let game, at = 0, line = null, flipped = false;

  const played = () => (at > 0 ? game.moves[at - 1] : null);
  const playerName = (side) => game.sides[side].player || game.sides[side].name;
  const colour = (side) => game.sides[side].colour;
  const numbered = (move) => `${move.number}${move.side === 0 ? "." : "…"}`;

  function selectGame(number) {
    game = data.games[number];
    at = 0;
    line = null;
    $("games").value = String(number);
    $("title").textContent = game.title;
    $("about").textContent = [game.game, ...game.details].join(" · ");
    document.title = game.title;
    $("slider").max = game.moves.length;
    listMoves();
    drawGraph();
    showSummary();
  }

  function go(to) {
    at = Math.max(0, Math.min(game.moves.length, to));
    line = null;
    show();
  }
  /** Follows a line of the move at `index`, and shows it after `steps` of its moves. */
  function follow(index, which, steps) {
    at = index + 1;
    line = { index, which, steps };
    show();
  }
  const lineOf = ({ index, which }) =>
    which < 0 ? game.moves[index].better : game.moves[index].lines[which];

  function step(by) {
    if (!line) return go(at + by);
    const steps = line.steps + by;
    if (steps < 1) return go(line.index + 1);
    if (steps <= lineOf(line).steps.length) follow(line.index, line.which, steps);
  }
  function nextMistake() {
    const from = game.moves.findIndex((move, index) => index >= at && move.mark);
    const found = from >= 0 ? from : game.moves.findIndex((move) => move.mark);
    if (found >= 0) go(found + 1);
  }

  function show() {
    const move = played();
    const shown = line ? lineOf(line).steps[line.steps - 1] : move;
    drawBoard(shown ? shown.board : game.board, shown, !line && move && move.better);
    showMove();
    const expected = move ? move.expected : game.expected;
    const bar = $("bar");
    // The side at the bottom of the board fills the bar from the bottom.
    bar.style.height = `${100 * expected}%`;
    bar.style.top = flipped ? `${100 * (1 - expected)}%` : "0";
    bar.style.background = `var(--bar-${colour(0)})`;
    bar.parentElement.style.background = `var(--bar-${colour(1)})`;
    showPlayers();
    $("slider").value = at;
    $("slider").setAttribute("aria-valuetext", move ? `${numbered(move)} ${move.text}` : "start");
    const here = $("graph").querySelector(".here");
    const x = graphX(at);
    here.setAttribute("x1", x);
    here.setAttribute("x2", x);
    $("first").disabled = $("back").disabled = at === 0 && !line;
    $("next").disabled = line ? line.steps === lineOf(line).steps.length : at === game.moves.length;
    $("last").disabled = at === game.moves.length && !line;
    $("mistake").disabled = !game.moves.some((entry) => entry.mark);
    const list = $("moves");
    list.querySelector("[aria-current]")?.removeAttribute("aria-current");
    const button = list.querySelector(`[data-at="${at}"]`);
    if (button) {
      button.setAttribute("aria-current", "true");
      // Only the list is scrolled, never the page.
      const top = button.offsetTop - list.clientHeight / 2;
      list.scrollTop = Math.max(0, top);
    } else {
      list.scrollTop = 0;
    }
    try {
      history.replaceState(null, "", `#${data.games.indexOf(game) + 1}.${at}`);
    } catch {
      // Some browsers do not let a page from a file change its address.
    }
  }

  function showPlayers() {
    [["upper", flipped ? 1 : 0], ["lower", flipped ? 0 : 1]].forEach(([place, side]) => {
      const name = game.sides[side].name;
      $(place).replaceChildren(
        make("i", { class: `dot ${colour(side)}` }),
        make("span", {}, playerName(side)),
        make("small", {}, game.sides[side].player ? name : ""),
      );
    });
  }

  /** Shows the evaluation and the comments of the move on the board. */
  function showMove() {
    const now = $("now");
    const move = played();
    if (!move) {
      now.replaceChildren(
        make("p", { class: "head" }, make("b", {}, "Start"), make("span", { class: "eval" }, game.eval)),
        make("p", {}, `Scores above 0 are good for ${game.sides[0].name}.`),
        ...(game.comment ? [make("p", { class: "comment" }, game.comment)] : []),
      );
      return;
    }
    const parts = [
      make("p", { class: "head" },
        make("b", {}, `${numbered(move)} ${move.text} `, judgement(move.mark) || ""),
        make("span", {}, playerName(move.side)),
        make("span", { class: "eval" }, move.eval)),
      make("p", {}, move.verdict),
    ];
    if (move.better) parts.push(lineRow(move.better, -1, "Better:", "name"));
    (move.lines || []).forEach((variation, which) => {
      parts.push(lineRow(variation, which, `${which + 1}.`, "name plain"));
    });
    if (move.comment) parts.push(make("p", { class: "comment" }, move.comment));
    if (game.end && game.end.plies === at) parts.push(make("p", {}, game.end.text));
    now.replaceChildren(...parts);
  }

  function lineRow(variation, which, name, nameClass) {
    const row = make("p", { class: "line" }, make("span", { class: nameClass }, name));
    variation.steps.forEach((step, index) => {
      const current = line && line.which === which && line.steps === index + 1;
      row.append(make("button", {
        "aria-current": current ? "true" : null,
        "data-step": `${which}.${index + 1}`,
        onclick: () => {
          follow(at - 1, which, index + 1);
          $("now").querySelector(`[data-step="${which}.${index + 1}"]`)?.focus();
        },
      }, step.text));
    });
    row.append(make("span", {}, variation.eval));
    if (line && line.which === which) {
      row.append(make("button", { onclick: () => go(at) }, "Back to the game"));
    }
    return row;
  }

  function listMoves() {
    const rows = [];
    let row = null;
    game.moves.forEach((move, index) => {
      if (!row || move.side === 0) {
        row = make("li", {}, make("span", { class: "n" }, `${move.number}.`));
        if (move.side === 1) row.append(make("span", {}));
        rows.push(row);
      }
      row.append(make("button", { "data-at": index + 1, onclick: () => go(index + 1) },
        make("span", {}, move.text), judgement(move.mark),
        make("span", { class: "score" }, move.eval)));
      if (index === game.moves.length - 1 && move.side === 0) row.append(make("span", {}));
    });
    $("moves").replaceChildren(...rows);
  }

  const graphX = (index) => (game.moves.length ? (600 * index) / game.moves.length : 300);
  const graphY = (expected) => 5 + 140 * (1 - expected);
  function drawGraph() {
    const graph = $("graph");
    const values = [game.expected, ...game.moves.map((move) => move.expected)];
    const points = values.map((value, index) => `${graphX(index)},${graphY(value)}`);
    if (points.length === 1) points.push(`600,${graphY(values[0])}`);
    const area = `0,150 ${points.join(" ")} 600,150`;
    graph.style.background = `var(--bar-${colour(1)})`;
    graph.replaceChildren(
      draw("polygon", { points: area, style: `fill: var(--bar-${colour(0)})` }),
      draw("line", { class: "half", x1: 0, x2: 600, y1: 75, y2: 75 }),
      draw("line", { class: "here", x1: 0, x2: 0, y1: 0, y2: 150 }),
      draw("polyline", { class: "curve", points: points.join(" ") }),
      ...game.moves.flatMap((move, index) => {
        if (!move.mark) return [];
        const y = graphY(move.expected);
        const x = graphX(index + 1);
        return [draw("line", { class: `tick ${JUDGEMENTS[move.mark]}`, x1: x, x2: x, y1: y - 7, y2: y + 7 })];
      }),
    );
  }

  function showSummary() {
    const [first, second] = game.sides;
    const row = (name, values, rowClass) => make("tr", { class: rowClass },
      make("th", { scope: "row" }, ...name), ...values.map((value) => make("td", {}, String(value))));
    const symbols = [["?!", "inaccuracies"], ["?", "mistakes"], ["??", "blunders"]];
    const body = make("tbody", {},
      row(["Accuracy"], [first.accuracy, second.accuracy], "big"),
      ...symbols.map(([symbol, name], index) =>
        row([judgement(symbol), ` ${name}`], [first.judgements[index], second.judgements[index]])),
      row(["Mean loss"], [first.meanLoss, second.meanLoss]),
      row(["Counted moves"], [first, second].map((side) => `${side.countedMoves} of ${side.moves}`)));
    const head = make("thead", {}, make("tr", {}, make("th", {}),
      make("th", { scope: "col" }, playerName(0)), make("th", { scope: "col" }, playerName(1))));
    const turn = make("p", {}, game.turningText, " ");
    if (game.turningPoint !== null) {
      turn.append(make("button", { onclick: () => go(game.turningPoint + 1) }, "Show it"));
    }
    $("summary").replaceChildren(make("h2", {}, "Summary"), make("table", {}, head, body), turn);
  }

  // The board.
  const place = (index) => {
    const [row, column] = [index >> 3, index & 7];
    return flipped ? [700 - 100 * column, 700 - 100 * row] : [100 * column, 100 * row];
  };
  const middle = (index) => place(index).map((corner) => corner + 50);

  function drawBoard(letters, shown, better) {
    const parts = [];
    const lastMove = new Set(shown ? [shown.path[0], shown.path[shown.path.length - 1]] : []);
    for (let index = 0; index < 64; index += 1) {
      const [x, y] = place(index);
      const dark = ((index >> 3) + (index & 7)) % 2 === 1;
      const kind = game.squares ? (dark ? "dark" : "light") : dark ? "b" : "a";
      parts.push(draw("rect", { class: `cell-${kind}`, x, y, width: 100, height: 100 }));
      if (lastMove.has(index)) parts.push(draw("rect", { class: "last-move", x, y, width: 100, height: 100 }));
      if (game.squares && game.squares[index]) {
        parts.push(draw("text", { class: "label", x: x + 4, y: y + 16 }, game.squares[index]));
      }
      if (!game.squares && x === 0) {
        parts.push(draw("text", { class: "label edge", x: 5, y: y + 20 }, (index >> 3) + 1));
      }
      if (!game.squares && y === 700) {
        parts.push(draw("text", { class: "label edge", x: x + 84, y: 794 }, (index & 7) + 1));
      }
    }
    [...letters].forEach((letter, index) => {
      const piece = game.pieces[letter];
      if (piece) parts.push(...drawPiece(piece, ...middle(index)));
    });
    if (shown) {
      parts.push(...drawPath(shown.path, ""));
      for (const index of shown.captures) {
        const [x, y] = middle(index);
        parts.push(draw("path", { class: "captured", d: `M${x - 18} ${y - 18}l36 36m0-36l-36 36` }));
      }
    }
    if (better) parts.push(...drawPath(better.steps[0].path, "best"));
    const board = $("board");
    board.setAttribute("aria-label", describe(letters, shown));
    board.replaceChildren(...parts);
  }

  function drawPiece({ colour: name, king }, x, y) {
    const parts = [
      draw("circle", { class: `piece ${name}`, cx: x, cy: y, r: 36 }),
      draw("circle", { class: `ring ${name}`, cx: x, cy: y, r: 26 }),
    ];
    if (king) {
      const d = `M${x - 22} ${y + 15}l-4-29 15 13 11-20 11 20 15-13-4 29z`;
      parts.push(draw("path", { class: `crown ${name}`, d }));
    }
    return parts;
  }

  function drawPath(path, kind) {
    if (path.length < 2) return [];
    const points = path.map(middle);
    const [x, y] = points[points.length - 1];
    const [fromX, fromY] = points[points.length - 2];
    const angle = Math.atan2(y - fromY, x - fromX);
    const end = [x - 24 * Math.cos(angle), y - 24 * Math.sin(angle)];
    const corner = (rotation) =>
      [end[0] + 24 * Math.cos(angle + rotation), end[1] + 24 * Math.sin(angle + rotation)].join(",");
    const shaft = [...points.slice(0, -1), end].map((point) => point.join(",")).join(" ");
    const head = [corner(0), corner(2.2), corner(-2.2)].join(" ");
    return [
      draw("polyline", { class: "halo", points: shaft }),
      draw("polygon", { class: "halo", points: head }),
      draw("polyline", { class: `path ${kind}`, points: shaft }),
      draw("polygon", { class: `path-head ${kind}`, points: head }),
    ];
  }

  function describe(letters, shown) {
    const name = (index) => (game.squares ? game.squares[index] : `${(index >> 3) + 1}${(index & 7) + 1}`);
    const cellsByPiece = new Map();
    [...letters].forEach((letter, index) => {
      const piece = game.pieces[letter];
      if (!piece) return;
      const key = piece.colour + (piece.king ? " kings" : "");
      cellsByPiece.set(key, [...(cellsByPiece.get(key) || []), name(index)]);
    });
    const sides = [...cellsByPiece].map(([key, cells]) => `${key} on ${cells.join(" ")}`);
    return `${shown ? `After ${shown.text}: ` : ""}${sides.join("; ")}`;
  }

  // Input.
  $("first").onclick = () => go(0);
  $("back").onclick = () => step(-1);
  $("next").onclick = () => step(1);
  $("last").onclick = () => go(game.moves.length);
  $("mistake").onclick = nextMistake;
  $("flip").onclick = () => {
    flipped = !flipped;
    show();
  };
  $("slider").oninput = (event) => go(Number(event.target.value));
  $("graph").onclick = (event) => {
    const box = $("graph").getBoundingClientRect();
    go(Math.round(((event.clientX - box.left) / box.width) * game.moves.length));
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (["SELECT", "INPUT"].includes(event.target.tagName)) return;
    const action = {
      ArrowLeft: () => step(-1), ArrowRight: () => step(1), Home: () => go(0),
      End: () => go(game.moves.length), m: nextMistake, f: () => $("flip").click(),
    }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  if (!data.games.length) {
    $("title").textContent = "No games";
    return;
  }
  data.games.forEach((entry, index) => {
    $("games").append(make("option", { value: index }, `${index + 1}. ${entry.title}`));
  });
  $("chooser").hidden = data.games.length < 2;
  $("games").onchange = (event) => {
    selectGame(Number(event.target.value));
    show();
  };
  const target = /^#(\d+)\.(\d+)$/.exec(location.hash);
  selectGame(target && data.games[target[1] - 1] ? target[1] - 1 : 0);
  go(target ? Number(target[2]) : 0);
})();
