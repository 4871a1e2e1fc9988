/**
 * The file of a whole base, and the home that its records come from or go to. For worker threads.
 */

export {
  columnsOf,
  type FileColumn,
  type FileValue,
  FORMAT_VERSION,
  fileNames,
  type MetaTable,
  PART_BYTES,
} from './format.ts'
export { withHome } from './home-store.ts'
export { openSheafFile, type SheafFileReader } from './reader.ts'
export { openSeenValues } from './seen-values.ts'
export { createSheafFile, type SheafFileWriter } from './writer.ts'
