/** The first user’s base, which shows what Sheaf can do. */

export { createStarter } from './starter.ts'
