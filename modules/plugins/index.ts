/** Mail services, file stores and chat services that super admins configure. */

export type { ChatRequest } from './chat/index.ts'
export { pluginsRest } from './rest/index.ts'
export { pluginsRouter } from './router.ts'
export { type ChatTarget, createPluginsService, type PluginsService } from './service.ts'
