/**
 * What is said where a table or column of a connected database is not there any more.
 *
 * @example changedThere('Shop') // 'The tables of Shop have changed in its database: synchronise the source'
 */
export const changedThere = (source: string): string =>
  `The tables of ${source} have changed in the database. Synchronise the data source.`
