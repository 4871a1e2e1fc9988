/** Imports, copies and jobs over REST. */

export { copiesRest } from './copies.ts'
export { importsRest } from './routes.ts'
export { tableImportRest } from './table-import.ts'
