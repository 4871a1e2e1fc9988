import { join } from 'node:path'

/** Entry of the server in a process of its own: the bundle of a whole test run (`scripts/test/server-bundle.ts`), else the source. */
export const SERVER_MAIN = process.env.TEST_SERVER_MAIN ?? join(import.meta.dir, '../../src/main.ts')
