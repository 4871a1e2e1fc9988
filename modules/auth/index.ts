/** Accounts, sessions, API tokens, roles and rights, and what public links grant. */

export { type Access, capped, forbidden, isSuperAdmin, requireUser } from './access.ts'
export type { ListedUser } from './org-users.ts'
export { OWNED_BASES } from './org-users.ts'
export { asPublicPerson } from './people.ts'
export {
  authRest,
  createToken,
  presentTokens,
  probesRest,
  readTokenId,
  STARTER_PRESENTER,
} from './rest/index.ts'
export { appRouter, authRouter } from './router.ts'
export { type AuthService, createAuthService, STARTER, type Starter, type StarterBase } from './service.ts'
export { asVisitor, isExpired, noShare, passwordIn } from './share-visitors.ts'
export { asShare, type SharePatch, type ShareRow, type ShareTarget } from './shares.ts'
export { createHourlyLimit } from './throttle.ts'
