/** Characters of a database's own words that are looked at, logged and shown. */
const MAX_MESSAGE = 1000

/** A driver's error with a message of bounded length: a server may send any amount of text as its error. */
export function shortenMessage<E extends Error>(error: E): E {
  if (error.message.length > MAX_MESSAGE) error.message = `${error.message.slice(0, MAX_MESSAGE)}…`
  return error
}
