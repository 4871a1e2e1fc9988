/** Imports, copies and jobs over REST. */

export { baseImportRest } from './base-import.ts'
export { copiesRest } from './copies.ts'
export { importsRest } from './routes.ts'
export { tableImportRest } from './table-import.ts'
