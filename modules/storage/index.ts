export { storageRest } from './rest.ts'
export { storageRouter } from './router.ts'
export { createStorageService, type StorageService } from './service.ts'
