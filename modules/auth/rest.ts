import { Elysia } from 'elysia'
import type { Kernel } from '../../src/kernel.ts'
import { instanceRest } from './rest-instance.ts'
import { orgRest } from './rest-org.ts'
import { sessionRest } from './rest-session.ts'
import type { AuthService } from './service.ts'

/** Every REST route of accounts, sessions, the organisation and the server itself (wire §2 to §4). */
export const authRest = (auth: AuthService, kernel: Kernel) =>
  new Elysia({ name: 'auth-rest' })
    .use(sessionRest(auth, kernel))
    .use(orgRest(auth, kernel))
    .use(instanceRest(auth, kernel))
