import { crc32, deflateRawSync } from 'node:zlib';

/** One file of a zip file, and what is to be wrong with it. */
export interface Zipped {
  readonly name: string;
  readonly content: Buffer;
  readonly isStored?: boolean;
  readonly checksum?: number;
  readonly size?: number;
  readonly method?: number;
  readonly flags?: number;
}

/** A zip file, as APPNOTE.TXT has it: each file behind its header, then the directory and its end. */
export function zip(...files: readonly Zipped[]): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const file of files) {
    const packed = file.isStored === true ? file.content : deflateRawSync(file.content);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(file.flags ?? 0, 2);
    fields.writeUInt16LE(file.method ?? (file.isStored === true ? 0 : 8), 4);
    fields.writeUInt32LE(file.checksum ?? crc32(file.content), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(file.size ?? file.content.length, 18);
    fields.writeUInt16LE(file.name.length, 22);
    const name = Buffer.from(file.name);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    bodies.push(Buffer.from('PK\x03\x04'), fields, name, packed);
    directory.push(Buffer.from('PK\x01\x02\x14\0'), fields, place, name);
    offset += 30 + name.length + packed.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(listed.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...bodies, listed, Buffer.from('PK\x05\x06'), end]);
}
