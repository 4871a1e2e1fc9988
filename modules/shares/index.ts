export { sharesRest } from './rest.ts'
export { sharesRouter } from './router.ts'
export { createSharesService, type SharesService } from './service.ts'
