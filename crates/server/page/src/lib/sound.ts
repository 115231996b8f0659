/** Short sounds, made on the spot: there is no file to load. */
import { settings } from "./stores/settings.svelte";

let audio: AudioContext | undefined;

// Browsers let a page sound only after somebody has touched it.
for (const event of ["pointerdown", "keydown"]) {
  addEventListener(event, () => settings.sound && void wake()?.resume(), { passive: true });
}

function wake(): AudioContext | undefined {
  try {
    audio ??= new AudioContext();
  } catch {
    // No sound here: the board says everything too.
  }
  return audio;
}

/** Wood on wood: a click of noise and a low knock. */
function knock(at: number, pitch: number, loud: number) {
  if (!audio) return;
  const start = audio.currentTime + at;
  const length = 0.09;
  const noise = audio.createBuffer(1, Math.ceil(audio.sampleRate * 0.03), audio.sampleRate);
  const samples = noise.getChannelData(0);
  for (let i = 0; i < samples.length; i++) {
    samples[i] = (Math.random() * 2 - 1) * (1 - i / samples.length) ** 4;
  }
  const click = new AudioBufferSourceNode(audio, { buffer: noise });
  const dull = new BiquadFilterNode(audio, { type: "lowpass", frequency: pitch * 9 });
  const clickGain = new GainNode(audio, { gain: loud * 0.5 });
  click.connect(dull).connect(clickGain).connect(audio.destination);
  click.start(start);
  tone(at, pitch, length, loud, "sine", pitch * 0.7);
}

function tone(
  at: number,
  pitch: number,
  length: number,
  loud: number,
  type: OscillatorType = "sine",
  falls = pitch,
) {
  if (!audio) return;
  const start = audio.currentTime + at;
  const source = new OscillatorNode(audio, { type, frequency: pitch });
  const gain = new GainNode(audio, { gain: 0 });
  source.frequency.setValueAtTime(pitch, start);
  source.frequency.exponentialRampToValueAtTime(falls, start + length);
  gain.gain.setValueAtTime(0, start);
  gain.gain.linearRampToValueAtTime(loud, start + 0.004);
  gain.gain.exponentialRampToValueAtTime(0.0001, start + length);
  source.connect(gain).connect(audio.destination);
  source.start(start);
  source.stop(start + length + 0.02);
}

const sounds = {
  move: () => knock(0, 240, 0.35),
  capture: () => {
    knock(0, 240, 0.35);
    knock(0.06, 170, 0.4);
  },
  refused: () => {
    tone(0, 150, 0.12, 0.12, "triangle");
    tone(0.09, 120, 0.14, 0.12, "triangle");
  },
  offer: () => {
    tone(0, 660, 0.16, 0.08);
    tone(0.12, 880, 0.22, 0.08);
  },
  won: () => [523, 659, 784, 1047].forEach((pitch, i) => tone(i * 0.11, pitch, 0.5, 0.09)),
  lost: () => [440, 349, 294].forEach((pitch, i) => tone(i * 0.16, pitch, 0.5, 0.09)),
  drawn: () => [440, 554, 440].forEach((pitch, i) => tone(i * 0.14, pitch, 0.4, 0.08)),
};

export type Sound = keyof typeof sounds;

/** Makes a sound, if sounds are wanted. */
export function sound(name: Sound) {
  if (settings.sound && audio?.state === "running") sounds[name]();
}
