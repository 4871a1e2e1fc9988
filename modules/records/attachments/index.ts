/**
 * Files of cells: uploads, links to them, thumbnails, and removing what no cell names any more.
 */

export { visitorOwner } from './audience.ts'
export type { FileRow } from './files.ts'
export { noFile, serveFile } from './links.ts'
export { type AttachmentsService, createAttachments } from './service.ts'
