import { Elysia } from 'elysia'
import type { Kernel } from '../../../src/kernel.ts'
import type { AuthService } from '../service.ts'
import { instanceRest } from './instance.ts'
import { orgRest } from './organisation.ts'
import { sessionRest } from './session.ts'

export { createToken, presentTokens, readTokenId } from './organisation.ts'
export { probesRest } from './probes.ts'
export { STARTER_PRESENTER } from './session.ts'

/** Routes of accounts, sessions, the organisation and the server (wire §2 to §4). */
export const authRest = (kernel: Kernel, { auth }: { auth: AuthService }) =>
  new Elysia({ name: 'auth-rest' })
    .use(sessionRest(auth, kernel))
    .use(orgRest(auth, kernel))
    .use(instanceRest(auth, kernel))
