import { mount } from "svelte";
import App from "./App.svelte";
import "./app.css";
import { registerServiceWorker } from "./offline/register";

const target = document.getElementById("app");
if (target) mount(App, { target });
registerServiceWorker();
