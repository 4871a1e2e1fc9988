import { z } from 'zod'
import type { GalleryOptions } from '../../../../src/core/views/index.ts'
import { readBody } from '../../../../src/wire/rest-base.ts'
import {
  COVER_META,
  coverFit,
  kindChange,
  present,
  takeMeta,
  type WireKind,
  wireCoverFit,
  wireFieldId,
  wireMeta,
} from './wire-kind.ts'

const GalleryBody = z.object({
  fk_cover_image_col_id: wireFieldId.optional(),
  meta: wireMeta.nullish(),
})

/** Obsolete keys that REST clients still expect. */
const OBSOLETE = {
  cover_image: null,
  cover_image_idx: null,
  next_enabled: null,
  prev_enabled: null,
  restrict_types: null,
  restrict_size: null,
  restrict_number: null,
  public: null,
  dimensions: null,
  responsive_columns: null,
}

export const gallery: WireKind = {
  kind: 'gallery',
  path: 'galleries',
  present({ options, row }) {
    const { coverFieldId, coverFit: fit } = options as GalleryOptions
    return {
      fk_cover_image_col_id: coverFieldId,
      ...OBSOLETE,
      meta: { ...row.meta, fk_cover_image_object_fit: wireCoverFit(fit) },
    }
  },
  read(body) {
    const { fk_cover_image_col_id: coverFieldId, meta } = readBody(GalleryBody, body)
    const { options, rest } = takeMeta(meta, COVER_META)
    if (options.coverFit !== undefined) options.coverFit = readBody(coverFit, options.coverFit)
    return kindChange({ ...options, ...present({ coverFieldId }) }, meta == null ? undefined : rest)
  },
}
