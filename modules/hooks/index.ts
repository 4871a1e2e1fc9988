/** Webhooks: calls of other programs after changes of records, or by hand. */

export { type ButtonsService, createButtonsService } from './buttons.ts'
export { buttonsRest, hooksRest } from './rest/index.ts'
export { buttonsRouter, hooksRouter } from './router.ts'
export { createHooksService, type HooksService } from './service.ts'
