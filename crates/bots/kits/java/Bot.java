import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * A bot for Crownhead. It scores each legal move and plays the best one.
 *
 * <p>Improve {@link #score}: it does not look at the opponent's replies.
 */
public class Bot {
    /** Row and column, from 0. */
    record Cell(int row, int column) {
        boolean isOnBoard() {
            return row >= 0 && row < 8 && column >= 0 && column < 8;
        }
    }

    private String game = "english";
    /** 64 letters, row by row; '.' is empty. */
    private String board;
    /** Letter of our side. */
    private char side;

    private char at(Cell cell) {
        return board.charAt(cell.row * 8 + cell.column);
    }

    private boolean isEnemy(Cell cell) {
        char piece = at(cell);
        return piece != '.' && Character.toLowerCase(piece) != Character.toLowerCase(side);
    }

    /** Parses the cells of a move: "22-24-44", "1131" or "11x18". A pass has none. */
    private List<Cell> parseCells(String move) {
        List<Cell> path = new ArrayList<>();
        if (move.equals("pass")) {
            return path;
        }
        if (game.equals("english") || game.equals("contest")) {
            for (String number : move.split("[-x]")) { // squares 1 to 32, four per row
                int n = Integer.parseInt(number) - 1;
                path.add(new Cell(n / 4, n % 4 * 2 + (n / 4 + 1) % 2));
            }
        } else {
            String digits = move.replace("-", "");
            for (int i = 0; i + 1 < digits.length(); i += 2) {
                path.add(new Cell(digits.charAt(i) - '1', digits.charAt(i + 1) - '1'));
            }
        }
        return path;
    }

    /** King's steps to the nearest enemy. */
    private int enemyDistance(Cell from) {
        int best = 8;
        for (int i = 0; i < 64; i++) {
            if (isEnemy(new Cell(i / 8, i % 8))) {
                int steps = Math.max(Math.abs(i / 8 - from.row), Math.abs(i % 8 - from.column));
                best = Math.min(best, steps);
            }
        }
        return best;
    }

    /** Progress of a column towards our target in Capture Halma. */
    private int progress(int column) {
        return side == 'b' ? Math.min(column, 6) : -Math.max(column, 1);
    }

    /** Scores a move; higher is better. */
    private int score(String move) {
        List<Cell> path = parseCells(move);
        if (path.isEmpty()) {
            return 0;
        }
        Cell from = path.get(0);
        Cell to = path.get(path.size() - 1);
        // The first side moves down and right.
        int forward = side == 'b' || side == '#' ? 1 : -1;
        int points = 0;
        if (game.equals("chinese-checkers")) {
            // Progress towards the opposite corner; on a tie, move the rearmost piece.
            int progress = to.row + to.column - from.row - from.column;
            return forward * (10 * progress - (from.row + from.column));
        }
        if (game.equals("capture-halma")) {
            for (int i = 1; i < path.size(); i++) {
                Cell a = path.get(i - 1);
                Cell b = path.get(i);
                int length = Math.abs(a.row - b.row) + Math.abs(a.column - b.column);
                Cell over = new Cell((a.row + b.row) / 2, (a.column + b.column) / 2);
                if (length == 2 && isEnemy(over)) {
                    points += 10;
                }
            }
            return points + 4 * (progress(to.column) - progress(from.column));
        }
        // English and contest checkers: capture as much as possible, avoid being captured.
        if (move.contains("x")) {
            for (int i = 1; i < path.size(); i++) {
                points += 10 * (Math.abs(path.get(i).row - path.get(i - 1).row) / 2);
            }
        }
        if (Character.isUpperCase(at(from))) {
            points += enemyDistance(from) - enemyDistance(to); // kings approach enemies
        } else {
            points += to.row == 0 || to.row == 7 ? 5 : 1;
        }
        for (int dr = -1; dr <= 1; dr += 2) {
            for (int dc = -1; dc <= 1; dc += 2) {
                Cell near = new Cell(to.row + dr, to.column + dc);
                Cell behind = new Cell(to.row - dr, to.column - dc);
                if (!near.isOnBoard() || !behind.isOnBoard() || !isEnemy(near)) {
                    continue;
                }
                // Men only move towards us.
                boolean canReach = Character.isUpperCase(at(near)) || dr == forward;
                if (canReach && (behind.equals(from) || at(behind) == '.')) {
                    points -= 8;
                }
            }
        }
        return points;
    }

    /** Parses the values of a line: word key=value key="two words". */
    private static Map<String, String> parseLine(String line) {
        Map<String, String> values = new HashMap<>();
        int at = line.indexOf(' ') + 1;
        while (at > 0 && at < line.length()) {
            int equals = line.indexOf('=', at);
            if (equals < 0) {
                break;
            }
            boolean quoted = line.startsWith("\"", equals + 1);
            int start = equals + (quoted ? 2 : 1);
            int end = line.indexOf(quoted ? '"' : ' ', start);
            end = end < 0 ? line.length() : end;
            values.put(line.substring(at, equals).trim(), line.substring(start, end));
            at = end + 1;
        }
        return values;
    }

    private void run() throws IOException {
        var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Random random = new Random();
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            Map<String, String> values = parseLine(line);
            switch (line.split(" ")[0]) {
                case "crownhead" -> System.out.print("bot name=\"NAME\"\nready\n");
                case "newgame" -> {
                    game = values.get("game").split(":")[0];
                    random = new Random(Long.parseUnsignedLong(values.getOrDefault("seed", "1")));
                    System.out.print("ready\n");
                }
                case "turn" -> {
                    board = values.get("board");
                    side = values.get("side").charAt(0);
                    List<String> moves = Arrays.asList(values.get("moves").split(","));
                    Collections.shuffle(moves, random); // break ties at random
                    String best = moves.get(0);
                    for (String move : moves) {
                        best = score(move) > score(best) ? move : best;
                    }
                    System.out.print("move " + best + "\n");
                }
                case "quit" -> {
                    return;
                }
                default -> { }
            }
            System.out.flush();
        }
    }

    public static void main(String[] arguments) throws IOException {
        new Bot().run();
    }
}
