/** Public links over REST. */

export { sharesRest } from './routes.ts'
