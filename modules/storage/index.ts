/** Size and retention of bases, and the removal of what is older. */

export { storageRouter } from './router.ts'
export { createStorageService, type StorageService } from './service.ts'
