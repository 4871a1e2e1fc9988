/**
 * Public links over REST: managing them, and what visitors read and write through them.
 */

export { sharesRest } from './routes.ts'
