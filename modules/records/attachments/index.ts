/** Files of cells: uploads, links, thumbnails, and the removal of unused files. */

export { exportsOwner, visitorOwner } from './audience.ts'
export type { FileRow } from './files.ts'
export { type FileSigner, type Served, THUMBNAIL_SIZES, type ThumbnailSize } from './links.ts'
export { type AttachmentsService, createAttachments } from './service.ts'
