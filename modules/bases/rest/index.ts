/** Bases, members and sources over REST. */

export { presentBase } from './present.ts'
export { basesRest } from './routes.ts'
