"use strict";

const search = document.getElementById("search");
const login = document.getElementById("login");

// What every change of the open session repeats, so that no other page can make one.
let csrfToken = "";

// Shows the operations and problems that have every word of the search.
function find() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (text) => words.every((word) => text.includes(word));
  for (const one of document.querySelectorAll("[data-search]")) {
    one.hidden = !has(one.dataset.search);
  }
  for (const part of document.querySelectorAll("[data-part]")) {
    part.hidden = !part.querySelector("[data-search]:not([hidden])");
  }
}

// Opens the operation that the address names.
function open() {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (named instanceof HTMLDetailsElement) {
    named.open = true;
    named.scrollIntoView();
  }
}

// The value of a field as its JSON type; nothing when it is empty.
function valueOf(field) {
  const text = field.value;
  if (text === "") return undefined;
  if (field.dataset.kind === "list") return text.split("\n").filter(Boolean);
  if (field.dataset.kind === "flag") return text === "true";
  if (field.dataset.kind !== "number") return text;
  // Larger numbers than a double holds keep their digits.
  return /^-?\d+$/.test(text) && typeof JSON.rawJSON === "function" ? JSON.rawJSON(text) : Number(text);
}

function requestOf(form) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  const body = {};
  const headers = {};
  for (const field of form.querySelectorAll("[name]")) {
    const value = valueOf(field);
    if (field.dataset.in === "path") {
      path = path.replace(`{${field.name}}`, encodeURIComponent(field.value));
    } else if (value === undefined) {
      continue;
    } else if (field.dataset.in === "query") {
      query.set(field.name, field.value);
    } else if (field.dataset.in === "header") {
      headers[field.name] = field.value;
    } else {
      body[field.name] = value;
    }
  }
  const request = { method: form.dataset.method, headers };
  if (csrfToken && request.method !== "GET") headers["X-CSRF-Token"] = csrfToken;
  if ("body" in form.dataset) {
    headers["Content-Type"] = "application/json";
    request.body = JSON.stringify(body);
  }
  return [query.size ? `${path}?${query}` : path, request];
}

async function send(event) {
  event.preventDefault();
  const form = event.target;
  const output = form.querySelector("output");
  const [path, request] = requestOf(form);
  const sent = `${request.method} ${path}${request.body ? `\n${request.body}` : ""}`;
  const say = (text) => {
    const block = document.createElement("pre");
    block.textContent = `${sent}\n\n${text}`;
    output.replaceChildren(block);
  };
  try {
    const response = await fetch(path, request);
    const text = await response.text();
    const isJson = /json/.test(response.headers.get("content-type") ?? "");
    const shown = isJson && text ? JSON.stringify(JSON.parse(text), null, 2) : text;
    say(`${response.status} ${response.statusText}\n${shown}`);
  } catch (failure) {
    say(`no answer: ${failure.message}`);
  }
}

// Takes up a session, a new one or that of the cookie.
async function enter(request) {
  const response = await fetch("/v1/session", request);
  const session = await response.json();
  csrfToken = response.ok ? session.csrf_token : "";
  return response.ok ? `Logged in as ${session.principal}` : session.title;
}

async function logIn(event) {
  event.preventDefault();
  const { key } = login.elements;
  const headers = { Authorization: `Bearer ${key.value}` };
  key.value = "";
  const output = login.querySelector("output");
  try {
    output.textContent = await enter({ method: "POST", headers });
  } catch (failure) {
    output.textContent = `no answer: ${failure.message}`;
  }
}

search.addEventListener("input", find);
login.addEventListener("submit", logIn);
window.addEventListener("hashchange", open);
for (const form of document.querySelectorAll("main form")) form.addEventListener("submit", send);
enter({}).then((who) => {
  if (csrfToken) login.querySelector("output").textContent = who;
}, () => {});
open();
