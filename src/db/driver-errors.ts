/** Maximum length of a database's message that is parsed, logged and shown. */
const MAX_MESSAGE = 1000

/** A driver's error with a message of bounded length: a server may send any amount of text as its error. */
export function shortenMessage<E extends Error>(error: E): E {
  if (error.message.length > MAX_MESSAGE) error.message = `${error.message.slice(0, MAX_MESSAGE)}…`
  return error
}

/**
 * Error message for a table or column that no longer exists in a connected database.
 *
 * @example changedThere('Shop') // 'The tables of Shop have changed in its database: synchronise the source'
 */
export const changedThere = (source: string): string =>
  `The tables of ${source} have changed in the database. Synchronise the data source.`
