/** Sounds, synthesised: there are no files to load. */
import { settings } from "./stores/settings.svelte";

let audio: AudioContext | undefined;

// Browsers allow sound only after a user gesture.
for (const event of ["pointerdown", "keydown"]) {
  addEventListener(event, () => settings.sound && void audioContext()?.resume(), { passive: true });
}

function audioContext(): AudioContext | undefined {
  try {
    audio ??= new AudioContext();
  } catch {
    // No audio device: everything is shown on the board as well.
  }
  return audio;
}

/** Wood on wood: a click of noise and a low tone. */
function knock(delay: number, pitch: number, volume: number) {
  if (!audio) return;
  const start = audio.currentTime + delay;
  const noise = audio.createBuffer(1, Math.ceil(audio.sampleRate * 0.03), audio.sampleRate);
  const samples = noise.getChannelData(0);
  for (let i = 0; i < samples.length; i++) {
    samples[i] = (Math.random() * 2 - 1) * (1 - i / samples.length) ** 4;
  }
  const click = new AudioBufferSourceNode(audio, { buffer: noise });
  const filter = new BiquadFilterNode(audio, { type: "lowpass", frequency: pitch * 9 });
  const clickGain = new GainNode(audio, { gain: volume * 0.5 });
  click.connect(filter).connect(clickGain).connect(audio.destination);
  click.start(start);
  tone(delay, pitch, 0.09, volume, "sine", pitch * 0.7);
}

function tone(
  delay: number,
  pitch: number,
  duration: number,
  volume: number,
  type: OscillatorType = "sine",
  endPitch = pitch,
) {
  if (!audio) return;
  const start = audio.currentTime + delay;
  const source = new OscillatorNode(audio, { type, frequency: pitch });
  const gain = new GainNode(audio, { gain: 0 });
  source.frequency.setValueAtTime(pitch, start);
  source.frequency.exponentialRampToValueAtTime(endPitch, start + duration);
  gain.gain.setValueAtTime(0, start);
  gain.gain.linearRampToValueAtTime(volume, start + 0.004);
  gain.gain.exponentialRampToValueAtTime(0.0001, start + duration);
  source.connect(gain).connect(audio.destination);
  source.start(start);
  source.stop(start + duration + 0.02);
}

const sounds = {
  move: () => knock(0, 240, 0.35),
  capture: () => {
    knock(0, 240, 0.35);
    knock(0.06, 170, 0.4);
  },
  /** Several captures or jumps. */
  "multi-capture": () => [0, 0.06, 0.14].forEach((delay, i) => knock(delay, 240 - 35 * i, 0.38)),
  jump: () => {
    knock(0, 260, 0.25);
    knock(0.09, 240, 0.35);
  },
  pass: () => tone(0, 330, 0.12, 0.06),
  illegal: () => {
    tone(0, 150, 0.12, 0.12, "triangle");
    tone(0.09, 120, 0.14, 0.12, "triangle");
  },
  offer: () => {
    tone(0, 660, 0.16, 0.08);
    tone(0.12, 880, 0.22, 0.08);
  },
  victory: () => [523, 659, 784, 1047].forEach((pitch, i) => tone(i * 0.11, pitch, 0.5, 0.09)),
  defeat: () => [440, 349, 294].forEach((pitch, i) => tone(i * 0.16, pitch, 0.5, 0.09)),
  draw: () => [440, 554, 440].forEach((pitch, i) => tone(i * 0.14, pitch, 0.4, 0.08)),
};

export type Sound = keyof typeof sounds;

/** The sound of a move, by its kind. */
export function moveSound(move: { path: string[]; captures: string[] }): Sound {
  if (move.path.length === 0) return "pass";
  if (move.captures.length > 0) return move.captures.length > 1 ? "multi-capture" : "capture";
  return move.path.length > 2 ? "jump" : "move";
}

/** Plays a sound, unless sound is off. */
export function playSound(name: Sound) {
  if (settings.sound && audio?.state === "running") sounds[name]();
}
