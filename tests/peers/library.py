"""The features of pictures by the C library, through ctypes."""
import ctypes

import numpy as np


class Image(ctypes.Structure):
    _fields_ = [("width", ctypes.c_int64), ("height", ctypes.c_int64), ("channels", ctypes.c_int64),
                ("samples", ctypes.c_void_p)]


class Matrix(ctypes.Structure):
    _fields_ = [("rows", ctypes.c_int64), ("cols", ctypes.c_int64), ("scalar", ctypes.c_int),
                ("values", ctypes.POINTER(ctypes.c_double)), ("start", ctypes.c_void_p), ("index", ctypes.c_void_p)]


class Cleave:
    """A context of the library."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.clv_message.restype = ctypes.c_char_p
        self.library.clv_data_matrix.restype = ctypes.POINTER(Matrix)
        self.context = ctypes.c_void_p()
        self._good(self.library.clv_context_new(None, ctypes.byref(self.context)))

    def _good(self, status):
        if status < 0:
            raise AssertionError(self.library.clv_message(self.context).decode())

    def _pixels(self, function, picture):
        samples = np.ascontiguousarray(picture)
        image = Image(samples.shape[1], samples.shape[0], 1 if samples.ndim == 2 else samples.shape[2],
                      samples.ctypes.data)
        data = ctypes.c_void_p()
        self._good(function(self.context, ctypes.byref(image), ctypes.byref(data)))
        matrix = self.library.clv_data_matrix(data).contents
        values = np.ctypeslib.as_array(matrix.values, (matrix.rows, matrix.cols)).copy()
        self.library.clv_data_free(data)
        return values.reshape(*samples.shape[:2], matrix.cols)

    def hsv(self, picture):
        return self._pixels(self.library.clv_image_hsv, picture)

    def points(self, picture):
        return self._pixels(self.library.clv_image_points, picture)

    def patterns(self, picture):
        """Local binary patterns."""
        samples = np.ascontiguousarray(picture)
        image = Image(samples.shape[1], samples.shape[0], 1 if samples.ndim == 2 else samples.shape[2],
                      samples.ctypes.data)
        codes = np.zeros(samples.shape[:2], np.uint8)
        self._good(self.library.clv_image_lbp(self.context, ctypes.byref(image), ctypes.c_int64(2),
                                              ctypes.c_void_p(codes.ctypes.data)))
        return codes
