/** Accounts, sessions, the organisation and the server over REST. */

export { presentTokens, readTokenId, TokenBody } from './organisation.ts'
export { presentNewToken } from './present.ts'
export { authRest } from './routes.ts'
export { STARTER_PRESENTER } from './session.ts'
