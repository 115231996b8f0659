/**
 * The viewer of reports: shows the part of a page that its address names, the games and the boards.
 * A classic script without network access, so that pages work from a folder.
 */
import { mount } from "svelte";
import MiniBoard from "../lib/board/MiniBoard.svelte";
import GameTable from "./GameTable.svelte";
import { infoOf, positions, target, type PageData } from "./replay";
import Viewer from "./Viewer.svelte";
import "./report.css";

const element = (id: string) => document.getElementById(id);
const data = JSON.parse(element("data")?.textContent ?? "null") as PageData | null;
if (data) start(data);

function start(data: PageData) {
  // A page without a report shows nothing but games.
  const report = element("report");
  const replay = element("replay");
  const pages = document.querySelectorAll<HTMLElement>(".page");
  const state = $state({ hash: location.hash, players: [] as number[] });
  let isMounted = false;
  let scrollTop = 0;
  /** Number of parts of the page that the reader has left. */
  let steps = 0;

  function setHash(hash: string) {
    try {
      history.replaceState(null, "", hash);
    } catch {
      // Some browsers do not let a page from a file change its address.
    }
    state.hash = hash;
  }

  function show() {
    const hash = location.hash;
    const isGame = !report || target(hash) !== null;
    const page = [...pages].find(({ id }) => `#${id}` === hash);
    const pair = /^#pair-(\d+)-(\d+)$/.exec(hash);
    const wasReport = report && !report.hidden;
    if (wasReport) scrollTop = scrollY;
    state.hash = hash;
    if (isGame && replay && !isMounted) {
      isMounted = true;
      const place = element("viewer") ?? replay;
      mount(Viewer, {
        target: place,
        props: {
          data,
          alone: !report,
          onhash: setHash,
          get hash() {
            return state.hash;
          },
        },
      });
    }
    if (!report) return;
    if (pair) state.players = [Number(pair[1]), Number(pair[2])];
    if (replay) replay.hidden = !isGame;
    report.hidden = isGame || page !== undefined;
    for (const other of pages) other.hidden = other !== page;
    if (!isGame) drawPositions(page ?? report);
    if (isGame || page) scrollTo(0, 0);
    else if (pair) element("games")?.scrollIntoView();
    else if (!wasReport && hash === "") scrollTo(0, scrollTop);
    else if (hash) element(hash.slice(1))?.scrollIntoView();
  }

  /** Draws the positions of a page when it is first shown. */
  function drawPositions(page: HTMLElement) {
    for (const place of page.querySelectorAll<HTMLElement>("[data-position]")) {
      const wanted = target(`#${place.dataset.position ?? ""}`);
      const game = data.games.find(({ number }) => number === wanted?.number);
      const info = game && infoOf(data, game);
      delete place.dataset.position;
      if (!game?.replay || !info || !wanted) continue;
      const history = positions(game.replay.board ?? info.board, game.replay);
      const board = history[wanted.ply]?.board ?? info.board;
      mount(MiniBoard, { target: place, props: { game: info, board } });
    }
  }

  const table = element("game-table");
  if (table) {
    table.replaceChildren();
    mount(GameTable, {
      target: table,
      props: {
        data,
        get players() {
          return state.players;
        },
        onplayers: (players: number[]) => (state.players = players),
      },
    });
  }
  for (const back of document.querySelectorAll<HTMLElement>("[data-back]")) {
    back.addEventListener("click", (event) => {
      // Back to where the reader came from, if that was this page.
      if (steps === 0) return;
      event.preventDefault();
      history.back();
    });
  }
  addEventListener("hashchange", () => {
    steps += 1;
    show();
  });
  show();
}
