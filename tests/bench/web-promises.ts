/** What the browser's lines promise: `limit` in the unit that `promise` names. */
export const WEB_PROMISES = {
  cold: { work: 'web: table URL to first cells, cold cache', promise: '< 1000 ms', limit: 1000 },
  warm: { work: 'web: table URL to first cells, warm cache', promise: '< 1000 ms', limit: 1000 },
  slow: { work: 'web: table URL to first cells at 50 ms, 5 Mbit/s', promise: '< 1500 ms', limit: 1500 },
  firstLoad: { work: 'web: first load of the grid, gzipped', promise: '≤ 250 KB', limit: 250 },
  requests: { work: 'web: requests to first cells', promise: '≤ 15', limit: 15 },
  frames: { work: 'web: frames while scrolling at 7,000 px/s', promise: '< 34 ms', limit: 34 },
  blank: { work: 'web: blank frames while scrolling', promise: '≤ 2 %', limit: 2 },
  key: { work: 'web: Ctrl+End to painted rows', promise: '< 150 ms', limit: 150 },
  scrollbar: { work: 'web: scrollbar to painted rows', promise: '< 150 ms', limit: 150 },
  form: { work: 'web: first load of a public form, gzipped', promise: '≤ 40 KB', limit: 40 },
  formRequests: { work: 'web: requests to the questions of a form', promise: '≤ 6', limit: 6 },
  heap: { work: 'web: tab heap after scrolling', promise: '≤ +20 MB', limit: 20 },
}
