/**
 * Files of cells: uploads, links to them, thumbnails, and removing what no cell names any more.
 */

export type { FileRow } from './files.ts'
export { visitorOwner } from './owner.ts'
export { withFiles } from './presenter.ts'
export { noFile, serveFile } from './serve.ts'
export { type AttachmentsService, createAttachments } from './service.ts'
