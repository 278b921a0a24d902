"use strict";

// The page of `stiction simulate --view`: one player as large as the window.
{
  const data = JSON.parse(document.getElementById("data").textContent);
  const page = document.getElementById("page");
  const heading = document.createElement("header");
  const title = document.createElement("h1");
  title.textContent = data.title;
  const program = document.createElement("span");
  program.textContent = data.program;
  heading.append(title, program);
  const figure = document.createElement("figure");
  page.append(heading, figure);
  createPlayer(figure, data.playback, document);
}
