/** Backups of the installation: schedule, restore tests and their results. */

export { backupsRest } from './rest/index.ts'
export { backupsRouter } from './router.ts'
export { type BackupsService, createBackupsService } from './service.ts'
