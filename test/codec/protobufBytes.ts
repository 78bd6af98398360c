/** One length-delimited field as it stands on the wire. Source: the protobuf encoding page of protobuf.dev. */
export function protobufField(id: number, value: Buffer | string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([varint(id * 8 + 2), varint(bytes.length), bytes]);
}

/** An object in its envelope, as the API server sends it. Source: runtime.Unknown of k8s.io/apimachinery. */
export function protobufObject(apiVersion: string, kind: string, raw: Buffer): Buffer {
  const type = Buffer.concat([protobufField(1, apiVersion), protobufField(2, kind)]);
  return Buffer.concat([
    Buffer.from('k8s\0'),
    protobufField(1, type),
    protobufField(2, raw),
    protobufField(3, ''),
    protobufField(4, ''),
  ]);
}

/** A list of items, which stand in it without an envelope. */
export function protobufList(apiVersion: string, kind: string, items: readonly Buffer[]): Buffer {
  const metadata = protobufField(1, protobufField(2, '1'));
  return protobufObject(apiVersion, kind, Buffer.concat([metadata, ...items.map((item) => protobufField(2, item))]));
}

/** The bytes of ObjectMeta that tell which version of which object this is. */
export function protobufMeta(meta: { name: string; namespace: string; uid: string; resourceVersion: string }): Buffer {
  return Buffer.concat([
    protobufField(1, meta.name),
    protobufField(3, meta.namespace),
    protobufField(5, meta.uid),
    protobufField(6, meta.resourceVersion),
  ]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) + 128);
  return Buffer.from([...bytes, left]);
}
