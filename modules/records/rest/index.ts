export { createRestReads } from './routes.ts'
/**
 * Records over REST: both generations of the API, their presenters, and the API's description of itself.
 */

export { fileAnswer } from './exports.ts'
export { openapiRest } from './openapi/index.ts'
export { recordsRest } from './routes.ts'
