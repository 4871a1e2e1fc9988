/** Webhooks over REST, for both generations of the API. */

export { hooksRest } from './routes.ts'
