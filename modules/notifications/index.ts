/** Notifications: what people are told of, in the app and by mail, and the records and views that they watch. */

export { notificationsRest } from './rest/index.ts'
export { notificationsRouter } from './router.ts'
export { createNotificationsService, type NotificationsService } from './service.ts'
