/** Which page is shown. Links within the page change it without loading anything. */
import { tryLink } from "./stores/myGames.svelte";

export type Route =
  | { page: "start" }
  | { page: "game"; id: string; visit: number }
  | { page: "rules"; id: string | null }
  | { page: "nowhere" };

/** How often a link to a seat has been opened: each time the game is joined anew. */
let visit = 0;

function read(path: string): Route {
  const [first = "", second = "", ...rest] = path.split("/").slice(1);
  if (rest.length > 0) return { page: "nowhere" };
  if (first === "" && second === "") return { page: "start" };
  if (first === "game" && second) return { page: "game", id: second, visit };
  if (first === "rules") return { page: "rules", id: second || null };
  return { page: "nowhere" };
}

/** Reads the address, and takes the secret of a seat off it: it belongs into the storage. */
function arrive(): Route {
  const route = read(location.pathname);
  const secret = location.hash.slice(1);
  if (route.page === "game" && /^[\w-]{1,64}$/.test(secret)) {
    tryLink(route.id, secret);
    history.replaceState(null, "", location.pathname);
    visit += 1;
    return { ...route, visit };
  }
  return route;
}

let current: Route = $state.raw(arrive());

export const route = () => current;

/** Goes to a page. */
export function go(path: string) {
  history.pushState(null, "", path);
  current = arrive();
  scrollTo(0, 0);
  // Whoever cannot see that the page is another one is taken to it.
  document.querySelector("main")?.focus({ preventScroll: true });
}

// A link pasted into this very tab changes only what stands behind `#`: that is a `popstate` too.
addEventListener("popstate", () => (current = arrive()));

/** Lets a link within the page lead there without loading it anew. */
export function follow(event: MouseEvent) {
  const link = (event.target as Element).closest?.("a");
  if (!link || event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  if (link.origin !== location.origin || link.target || link.hasAttribute("download")) return;
  if (link.pathname.startsWith("/api/")) return;
  event.preventDefault();
  go(link.pathname + link.hash);
}
