/** Webhooks over REST, for both generations of the API. */

export { buttonsRest } from './buttons.ts'
export { hooksRest } from './routes.ts'
