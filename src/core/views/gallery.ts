import * as z from 'zod/mini'
import { m } from '../messages.gen.ts'
import {
  coverShape,
  firstCover,
  fitOrNull,
  isCover,
  type ViewKindDefinition,
  wrongType,
} from './view-kind.ts'

const galleryOptions = z.strictObject({ ...coverShape })
export type GalleryOptions = z.output<typeof galleryOptions>

export const gallery: ViewKindDefinition<GalleryOptions> = {
  kind: 'gallery',
  wireNumber: 2,
  label: 'Gallery',
  options: galleryOptions,
  defaults: (fields) => ({ coverFieldId: firstCover(fields), coverFit: 'fit' }),
  fieldIds: ({ coverFieldId }) => (coverFieldId === null ? [] : [coverFieldId]),
  prune: (options, field) => ({
    ...options,
    coverFieldId: fitOrNull(options.coverFieldId, field, isCover),
  }),
  problem: ({ coverFieldId }, field) =>
    wrongType([coverFieldId], field, isCover, m.view_error_not_attachment),
  hasManualOrder: true,
  shownAtFirst: 5,
}
