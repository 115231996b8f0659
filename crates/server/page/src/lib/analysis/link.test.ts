import { expect, test } from "vitest";
import { analysisPath, parseLink, type AnalysisLink } from "./link";

const links: AnalysisLink[] = [
  { game: "english", moves: [] },
  { game: "english:rules=wcdf", position: "B:W18,22:B15", moves: ["15-19", "22x15"] },
  { game: "chinese-checkers", position: "###5/##6/#7/8/8/7O/6OO/5OOO # 0", moves: ["1131"] },
  { game: "", moves: [], from: "Zk3vQm0yT1aB4cD9" },
];

test("a link gives back what it was made of", () => {
  for (const link of links) {
    expect(parseLink(new URL(analysisPath(link), "http://localhost").hash)).toEqual(link);
  }
});

test("links stay readable", () => {
  expect(analysisPath({ game: "english", position: "B:W18:B15", moves: ["15-19", "x"] })).toBe(
    "/analyse#game=english&position=B:W18:B15&moves=15-19,x",
  );
});

test("a hostile link is cut down or ignored", () => {
  for (const hash of ["", "#", "#game=", "#game=<b>", "#x".repeat(20_000), "#from=../../x"]) {
    expect(parseLink(hash), hash.slice(0, 40)).toBeNull();
  }
  expect(parseLink(`#game=english&position=${"B".repeat(500)}`)).toBeNull();
  expect(parseLink("#game=english&moves=11-15,<script>,javascript:x()")?.moves).toEqual(["11-15"]);
  const many = Array.from({ length: 900 }, () => "11-15").join(",");
  expect(parseLink(`#game=english&moves=${many}`)?.moves).toHaveLength(500);
});
