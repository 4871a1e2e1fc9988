/**
 * What the very first user finds: a base that shows what Sheaf can do.
 */

export { createStarter } from './starter.ts'
