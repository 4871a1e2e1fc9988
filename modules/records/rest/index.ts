/** Records over REST: both generations of the API, their presenters, and the OpenAPI document. */

export { fileAnswer } from './exports.ts'
export { openapiRest } from './openapi/index.ts'
export { HOOK_COUNT } from './report.ts'
export { createRestReads, presentStarter, recordsRest } from './routes.ts'
export { createRestRows, type RestRow } from './rows.ts'
