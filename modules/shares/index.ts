/** Public links: managing them, opening them, and answering forms. */

export { sharesRest } from './rest/index.ts'
export { sharesRouter } from './router.ts'
export { createSharesService, type SharesService } from './service.ts'
