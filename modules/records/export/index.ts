/**
 * Files of records: CSV, Excel and JSON.
 */

export { createExports, EXPORT_JOB, type ExportFile, type ExportRequest, VISITOR } from './exports.ts'
export { EXPORT_FORMATS } from './formats/index.ts'
