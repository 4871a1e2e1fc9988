/** Webhooks: calls of other programs after changes of records, or by hand. */

export { hooksRest } from './rest/index.ts'
export { hooksRouter } from './router.ts'
export { createHooksService, type HooksService } from './service.ts'
