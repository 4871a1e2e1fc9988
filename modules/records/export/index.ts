/**
 * Files of records: CSV, Excel, JSON and NDJSON.
 */

export {
  BASE_EXPORT_JOB,
  type BaseExportRequest,
  createExports,
  EXPORT_JOB,
  type ExportFile,
  type ExportRequest,
  VISITOR,
} from './exports.ts'
export { EXPORT_FORMATS } from './formats/index.ts'
