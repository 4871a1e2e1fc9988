/**
 * Accounts, sessions, the organisation and the server itself over REST: routes, and shapes as clients know them.
 */

export { presentTokens, readTokenId, TokenBody } from './organisation.ts'
export { presentNewToken } from './present.ts'
export { authRest } from './routes.ts'
export { STARTER_PRESENTER } from './session.ts'
