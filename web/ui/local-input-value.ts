/** An instant (ISO 8601) as the value of a `datetime-local` input: in the browser's zone, to the minute, `2026-11-20T17:40`. */
export function localInputValue(iso: string): string {
  const date = new Date(iso)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
